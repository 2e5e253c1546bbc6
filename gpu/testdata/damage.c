// A library that harms the program which loads it, as one does whose bits have turned: what the program can write
// becomes what it cannot, and then it is written to.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((constructor)) static void harm(void) {
	struct { unsigned long from, to; } all[64];
	int n = 0;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	for (unsigned long from, to; maps && n < 64 && fgets(line, sizeof line, maps);)
		if (strstr(line, "uma-gpu") && strstr(line, " rw-") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			all[n].from = from, all[n++].to = to;
	for (int k = 0; k < n; k++) mprotect((void *)all[k].from, all[k].to - all[k].from + 4096, PROT_READ); // and bss
	*(volatile int *)(uintptr_t)16 = 1;
}
