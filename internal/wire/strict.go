package wire

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Strict decodes a JSON value into what into points to. It refuses what package json passes over:
// names that no field has letter by letter, names that are there twice, null in place of a number,
// a text or a truth, and text behind the value.
func Strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := checkValue(d, reflect.TypeOf(into).Elem(), ""); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("found more text behind the value, wanted none")
	}
	return json.Unmarshal(text, into)
}

// checkValue checks the next value, at a path, for a type; nil for any.
func checkValue(d *json.Decoder, t reflect.Type, path string) error {
	nullable := t == nil
	for !nullable && t.Kind() == reflect.Pointer {
		t, nullable = t.Elem(), t.Elem().Kind() != reflect.Pointer
	}
	if t != nil && decodesItself(t) {
		t = nil
	}
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case nil:
		if nullable || t == nil {
			return nil
		}
		switch t.Kind() {
		case reflect.Slice, reflect.Map, reflect.Interface:
			return nil
		}
		return fmt.Errorf("%s: found null, wanted a value", cmp.Or(path, "all"))
	case json.Delim('['):
		for k := 0; d.More(); k++ {
			if err := checkValue(d, elementOf(t), fmt.Sprintf("%s[%d]", path, k)); err != nil {
				return err
			}
		}
	case json.Delim('{'):
		return checkObject(d, t, path)
	default:
		return nil
	}
	_, err = d.Token()
	return err
}

// checkObject checks the rest of an object.
func checkObject(d *json.Decoder, t reflect.Type, path string) error {
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name := token.(string) // as d promises
		here := strings.TrimPrefix(path+"."+name, ".")
		if seen[name] {
			return fmt.Errorf("%s: found twice, wanted once", here)
		}
		seen[name] = true
		field := elementOf(t)
		if t != nil && t.Kind() == reflect.Struct {
			if field = fieldOf(t, name); field == nil {
				return fmt.Errorf("json: unknown field %q", here)
			}
		}
		if err := checkValue(d, field, here); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// elementOf returns the type of the elements of lists and maps, nil for others.
func elementOf(t reflect.Type) reflect.Type {
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array ||
		t.Kind() == reflect.Map) {
		return t.Elem()
	}
	return nil
}

// fieldOf returns the type of the field that a name of JSON means, nil for none.
func fieldOf(t reflect.Type, name string) reflect.Type {
	for k := range t.NumField() {
		f := t.Field(k)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				if found := fieldOf(inner, name); found != nil {
					return found
				}
			}
		case f.IsExported() && cmp.Or(tag, f.Name) == name && tag != "-":
			return f.Type
		}
	}
	return nil
}

// decodesItself reports whether a type has a decoder of its own, whose rules are its own.
func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
