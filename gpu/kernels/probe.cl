#pragma OPENCL FP_CONTRACT OFF
// probe: the operations of float32 that kernels use, one by one, so that the host can compare
// the device's answers with the right ones; and whether a loop runs all of its rounds.
//
//   numbers  operands a, b, c and a scale of each work-item, side by side
//   integers one for each work-item
//   answers  written: ANSWERS for each work-item, in the order below; and, after those of all
//            n, how many of the rounds of a loop there were

#define ANSWERS 13 // host: probed

__kernel void probe(__global const float *restrict numbers, __global const long *restrict integers,
                    __global int *restrict answers, int n, int rounds)
{
	const int i = (int)get_global_id(0);
	if (i >= n)
		return;
	if (i == 0) {
		volatile int done = 0; // else a compiler may know better than to loop
		while (done < rounds)
			done++;
		answers[ANSWERS * n] = done;
	}
	numbers += 4 * i;
	answers += ANSWERS * i;
	const float a = numbers[0], b = numbers[1], c = numbers[2], f = convert_float(integers[i]);
	const long fixed = integer_of(f, numbers[3]);
	answers[0] = as_int(fma(a, b, c));
	answers[1] = as_int(a + b);
	answers[2] = as_int(a - b);
	answers[3] = as_int(a * b);
	answers[4] = as_int(-a);
	answers[5] = a < b;
	answers[6] = a >= b;
	answers[7] = IS_NAN(a);
	answers[8] = as_int(a < b ? b : a);
	answers[9] = as_int(f);
	answers[10] = (int)fixed;
	answers[11] = (int)(fixed >> 32);
	answers[12] = as_int(fma(a, b, NOTHING_OF(numbers[3])) + c);
}
