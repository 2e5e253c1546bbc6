"use strict";
for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const code = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
for (const inner of document.querySelectorAll(".scroll")) {
  const cue = () => inner.parentElement.classList.toggle("more",
    inner.scrollLeft + inner.clientWidth + 2 < inner.scrollWidth);
  inner.addEventListener("scroll", cue);
  new ResizeObserver(cue).observe(inner);
}
