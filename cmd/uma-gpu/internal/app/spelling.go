package app

import "github.com/uma-gpu/uma-gpu/internal/setting"

// Messages of the library name options by the flags of the command line.
func init() { setting.Spell = setting.Flag }
