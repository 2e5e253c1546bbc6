module github.com/uma-gpu/uma-gpu

go 1.26

require (
	github.com/campoy/embedmd v1.0.0 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.7 // indirect
	github.com/jgillich/go-opencl v0.0.0-20180608191952-a0efba3e5257 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/sbinet/npyio v0.6.0 // indirect
	github.com/urfave/cli/v2 v2.27.7 // indirect
	github.com/xrash/smetrics v0.0.0-20240521201337-686a1a2994c1 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)
