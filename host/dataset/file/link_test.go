package file_test

import (
	_ "github.com/uma-gpu/uma-gpu/host/dataset/parquet" // read by the tests of package file
	_ "github.com/uma-gpu/uma-gpu/host/dataset/zstd"
)
