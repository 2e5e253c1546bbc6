#!/usr/bin/env python3
"""Makes the wheel of python/ that carries a program: wheel.py PROGRAM PLATFORM OUT prints its path.

PLATFORM is linux_x86_64 and the like; of Linux with glibc, the oldest that the program starts on is
found. The same files give the same bytes. No compiler and no network are used, here and by pip.
"""

import base64
import hashlib
import os
import re
import sys
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main(program, platform, out):
    with open(os.path.join(ROOT, "python", "pyproject.toml")) as file:
        text = file.read()
    about = dict(re.findall(r'^([\w-]+) = "(.*)"$', text, re.M))
    needed = re.findall('"(.*?)"', re.search(r"^dependencies = (.*)$", text, re.M)[1])
    with open(os.path.join(ROOT, "python", "README.md")) as file:
        readme = file.read()
    with open(program, "rb") as file:
        binary = file.read()
    if platform.startswith("linux_"):
        glibc = max((int(v) for v in re.findall(rb"GLIBC_2\.(\d+)", binary)), default=17)
        platform = platform.replace("linux", f"manylinux_2_{max(glibc, 17)}", 1)
    tag, version = f"py3-none-{platform}", about["version"]
    info = f"umagpu-{version}.dist-info"
    files = {}
    source = os.path.join(ROOT, "python", "src", "umagpu")
    for name in sorted(os.listdir(source)):
        if name.endswith((".py", ".typed")):
            with open(os.path.join(source, name), "rb") as file:
                files["umagpu/" + name] = file.read()
    ending = ".exe" if platform.startswith("win") else ""
    files[f"umagpu/bin/uma-gpu{ending}"] = binary
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: umagpu\nVersion: {version}\nSummary: {about['description']}\n"
        f"Requires-Python: {about['requires-python']}\n"
        + "".join(f"Requires-Dist: {name}\n" for name in needed)
        + f"Description-Content-Type: text/markdown\n\n{readme}").encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: uma-gpu\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag}\n").encode()
    with open(os.path.join(ROOT, "LICENSE"), "rb") as file:
        files[f"{info}/LICENSE"] = file.read()
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},"
        f"{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = os.path.join(out, f"umagpu-{version}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, data in files.items():
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.external_attr = (0o100755 if "/bin/" in name else 0o100644) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3
            wheel.writestr(member, data)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
