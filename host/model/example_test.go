package model_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Predicts the classes of new examples, whose columns stand in another order.
func ExampleModel_Predict() {
	ctx, e := context.Background(), simd.New()
	path, remove := petModel()
	defer remove()

	m, err := model.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	table := strings.NewReader("height,weight,kind\n28,3,cat\n70,30,dog\n62,9,dog\n")
	pets, err := file.ReadFrom(ctx, table, "new.csv", file.Options{
		Classes: m.Meta.Classes, FeatureNames: m.Meta.Features.Names})
	if err != nil {
		log.Fatal(err)
	}
	classes, err := m.Predict(ctx, e, pets.Examples)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Meta.Features.Names, m.Names(classes))
	// Output: [weight height] [cat dog dog]
}

// petModel trains a model and returns its file, and what removes it.
func petModel() (path string, remove func()) {
	const table = "weight,height,kind\n2,30,cat\n9,60,dog\n3,25,cat\n25,65,dog\n4,31,cat\n12,55,dog\n"
	ctx := context.Background()
	pets, err := file.ReadFrom(ctx, strings.NewReader(table), "pets.csv", file.Options{})
	if err != nil {
		log.Fatal(err)
	}
	// nil: all labels are right
	trained, err := host.Train(ctx, pets, nil, host.Options{Engine: simd.New()})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "uma-gpu")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, "pets.npz")
	if err := trained.Save(path); err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) } // if that fails there is nobody to tell
}
