// Command check judges manifests of MPIJobs by the types and the validation of Kubeflow's MPI
// operator itself:
//
//	go run . ../mpijob.yaml
//
// It is a module of its own, so that uma-gpu needs none of Kubernetes' modules.
package main

import (
	"fmt"
	"os"

	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"
	"sigs.k8s.io/yaml"
)

func main() {
	for _, path := range os.Args[1:] {
		if err := check(path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			os.Exit(1)
		}
		fmt.Printf("%s: the MPI operator takes it\n", path)
	}
}

func check(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var job v2beta1.MPIJob
	if err := yaml.UnmarshalStrict(text, &job); err != nil {
		return err
	}
	if job.Name == "" {
		job.Name = job.GenerateName + "x1234" // as the server does
	}
	v2beta1.SetDefaults_MPIJob(&job)
	return validation.ValidateMPIJob(&job).ToAggregate()
}
