// Command foreign is a program of somebody else that imports package gpu. It notes, in the file that FOREIGN_STARTS
// names, each time that it is started, and prints how many devices there are; ASK_IN_CHILD lets gpu start it again.
package main

/*
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

// Before all others: gpu's own ends the child.
__attribute__((constructor(101))) static void started(void) {
	int file = open(getenv("FOREIGN_STARTS"), O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (write(file, "started\n", 8) != 8) abort();
	close(file);
}
*/
import "C"

import (
	"fmt"
	"os"

	"github.com/uma-gpu/uma-gpu/gpu"
)

func main() {
	if os.Getenv("ASK_IN_CHILD") != "" {
		gpu.AskInChild()
	}
	all, err := gpu.Devices()
	fmt.Println(len(all), err, len(gpu.LeftOut()))
}
