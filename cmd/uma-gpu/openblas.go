package main

import _ "github.com/uma-gpu/uma-gpu/internal/openblas" // with -tags openblas
