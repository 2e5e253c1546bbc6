// Runs an exported model in ONNX Runtime and compares it with what uma-gpu predicts.
//
// usage: node onnxruntime.js MODEL.onnx TEST.svm CLASSES.txt PROBABILITIES.npy
//   TEST.svm is in LIBSVM's format; CLASSES.txt and PROBABILITIES.npy are what uma-gpu predict wrote of it
// Prints one line; exits 1 if a class differs.
"use strict";
const fs = require("fs");
const ort = require("onnxruntime-node");

const [model, test, classes, probabilities] = process.argv.slice(2);

// The float32 elements of an .npy file of version 1.
function npy(path) {
	const b = fs.readFileSync(path);
	const start = 10 + b.readUInt16LE(8);
	return new Float32Array(b.buffer.slice(b.byteOffset + start, b.byteOffset + b.length));
}

async function main() {
	const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1 });
	const lines = fs.readFileSync(test, "utf8").trimEnd().split("\n");
	const ours = fs.readFileSync(classes, "utf8").trimEnd().split("\n");
	const wanted = npy(probabilities);
	if (lines.length !== ours.length) throw new Error(`found ${lines.length} examples and ${ours.length} predictions`);
	const width = Number(process.env.FEATURES);
	const batch = 256;
	let different = 0, most = 0;
	for (let from = 0; from < lines.length; from += batch) {
		const rows = lines.slice(from, from + batch);
		const x = new Float32Array(rows.length * width);
		rows.forEach((line, i) => {
			for (const entry of line.trim().split(/\s+/).slice(1)) {
				const [column, value] = entry.split(":");
				x[i * width + Number(column) - 1] = Number(value);
			}
		});
		const found = await session.run({ X: new ort.Tensor("float32", x, [rows.length, width]) });
		rows.forEach((_, i) => {
			if (String(found.label.data[i]) !== ours[from + i]) different++;
		});
		const p = found.probabilities.data, offset = from * (p.length / rows.length);
		for (let i = 0; i < p.length; i++) most = Math.max(most, Math.abs(p[i] - wanted[offset + i]));
	}
	console.log(`${different} of ${lines.length} classes differ, probabilities by ${most.toExponential(1)} at most`);
	process.exitCode = different ? 1 : 0;
}

main().catch((err) => {
	console.error(`onnxruntime.js: ${err.message}`);
	process.exitCode = 2;
});
