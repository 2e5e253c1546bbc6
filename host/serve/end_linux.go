package serve

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// noneBegins is a program for the kernel: of the packets that reach a socket it drops those that begin a connection.
// A packet starts with its TCP header here, whose byte 13 has the flags: SYN is 2, ACK 16.
var noneBegins = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13},
	{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 2 | 16},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 2, Jt: 0, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},          // dropped
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff}, // taken whole
}

func letNoneBegin(l any) {
	socket, ok := l.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(noneBegins)), Filter: &noneBegins[0]})
	})
}
