// Command foreign is a program of somebody else that imports package gpu. It notes, in the file
// that FOREIGN_STARTS names, each time that it is started, and prints how many devices there are;
// ASK_IN_CHILD lets gpu start it again.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/uma-gpu/uma-gpu/gpu"
)

func main() {
	starts, err := os.OpenFile(os.Getenv("FOREIGN_STARTS"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := fmt.Fprintln(starts, "started"); err != nil {
		log.Fatal(err)
	}
	if os.Getenv("ASK_IN_CHILD") != "" {
		gpu.AskInChild()
	}
	all, err := gpu.Devices()
	fmt.Println(len(all), err, len(gpu.LeftOut()))
}
