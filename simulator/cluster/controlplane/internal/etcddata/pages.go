package etcddata

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
)

// This file reads bbolt's format, version 2, without bbolt. bbolt trusts the pages that it maps
// into memory: a wrong page number ends the process, and its check runs in goroutines whose
// panics cannot be recovered. A test compares this reader with bbolt.
//
// A file consists of pages. The first two hold the same meta data, for turns. Each other page is
// a branch or a leaf of a tree, a list of free pages, or free; a page that has too little room is
// followed by overflow pages.
const (
	pageHeader    = 16 // id 8, flags 2, count 2, overflow 4
	elementSize   = 16 // branch: position 4, key 4, page 8; leaf: flags 4, position 4, key 4, value 4
	bucketHeader  = 16 // root page 8, sequence 8
	metaSize      = 64
	metaChecked   = 56
	metaMagic     = 0xED0CDAED
	formatVersion = 2
	noFreelist    = ^uint64(0)

	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freelistPage = 0x10
	bucketLeaf   = 0x01

	// maxDepth bounds the depth of a tree; hundreds of keys fit on each level.
	maxDepth = 32
	// maxPage bounds a page with its overflow: etcd's largest value takes megabytes.
	maxPage = 256 << 20
)

// pages reads one file.
type pages struct {
	file *os.File
	// size is that of a page, count the number of pages.
	size, count uint64
	// seen has a bit for each page in use.
	seen []uint64
	see  func(bucket, key, value []byte) error
}

// meta is the part of the meta data that matters here.
type meta struct {
	pageSize                           uint32
	root, freelist, pages, transaction uint64
}

// readPages reads all pages that are in use, and calls see with each key of each bucket. The
// slices are valid during the call.
func readPages(ctx context.Context, file *os.File, size int64, see func(bucket, key, value []byte) error) error {
	m, err := readMeta(file, size)
	if err != nil {
		return err
	}
	p := &pages{file: file, size: uint64(m.pageSize), count: m.pages, see: see}
	if m.pages > uint64(size)/p.size {
		return fmt.Errorf("it has %d bytes and should have %d", size, m.pages*p.size)
	}
	p.seen = make([]uint64, m.pages/64+1)
	if err := p.tree(ctx, m.root, nil, nil, nil, 0); err != nil {
		return err
	}
	if m.freelist == noFreelist {
		return nil
	}
	return p.freelist(m.freelist)
}

// readMeta returns the newer of the two copies of the meta data, or the one that is whole: bbolt
// writes one while the other stays.
func readMeta(file *os.File, size int64) (meta, error) {
	var newest *meta
	// The second copy begins at the second page, and the first one says how long a page is. If
	// that is damaged, any power of two is tried.
	for at := int64(0); at+pageHeader+metaSize <= size && at <= 16<<20; at = max(1<<10, at*2) {
		m, ok := metaAt(file, at)
		if ok && (at == 0 || int64(m.pageSize) == at) && (newest == nil || m.transaction > newest.transaction) {
			newest = &m
		}
	}
	if newest == nil {
		return meta{}, errors.New("neither copy of its beginning can be read")
	}
	return *newest, nil
}

func metaAt(file *os.File, at int64) (meta, bool) {
	data := make([]byte, pageHeader+metaSize)
	if _, err := file.ReadAt(data, at); err != nil {
		return meta{}, false
	}
	flags := binary.NativeEndian.Uint16(data[8:])
	data = data[pageHeader:]
	sum := fnv.New64a()
	sum.Write(data[:metaChecked])
	u32, u64 := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	ok := flags&metaPage != 0 && u32(data) == metaMagic && u32(data[4:]) == formatVersion && u64(data[metaChecked:]) == sum.Sum64()
	m := meta{pageSize: u32(data[8:]), root: u64(data[16:]), freelist: u64(data[32:]), pages: u64(data[40:]), transaction: u64(data[48:])}
	return m, ok && m.pageSize >= 1<<10 && m.pageSize&(m.pageSize-1) == 0
}

// page is a page with its overflow.
type page struct {
	id    uint64
	flags uint16
	count int
	data  []byte
}

// read returns a page, and marks it as used.
func (p *pages) read(id uint64) (page, error) {
	if id < 2 || id >= p.count {
		return page{}, fmt.Errorf("page %d is outside the file", id)
	}
	header := make([]byte, pageHeader)
	if _, err := p.file.ReadAt(header, int64(id*p.size)); err != nil {
		return page{}, err
	}
	overflow := uint64(binary.NativeEndian.Uint32(header[12:]))
	if said := binary.NativeEndian.Uint64(header); said != id {
		return page{}, fmt.Errorf("page %d says that it is page %d", id, said)
	}
	if id+overflow >= p.count || (overflow+1)*p.size > maxPage {
		return page{}, fmt.Errorf("page %d has %d more pages", id, overflow)
	}
	for n := id; n <= id+overflow; n++ {
		if p.seen[n/64]&(1<<(n%64)) != 0 {
			return page{}, fmt.Errorf("page %d is used twice", n)
		}
		p.seen[n/64] |= 1 << (n % 64)
	}
	data := make([]byte, (overflow+1)*p.size)
	if _, err := p.file.ReadAt(data, int64(id*p.size)); err != nil {
		return page{}, err
	}
	return parsePage(id, data), nil
}

func parsePage(id uint64, data []byte) page {
	return page{id: id, flags: binary.NativeEndian.Uint16(data[8:]), count: int(binary.NativeEndian.Uint16(data[10:])), data: data}
}

// tree reads the tree whose root is page id. Its keys are at least from and below to, as far as
// those are not nil.
func (p *pages) tree(ctx context.Context, id uint64, bucket, from, to []byte, depth int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if depth > maxDepth {
		return fmt.Errorf("page %d is too deep in its tree", id)
	}
	read, err := p.read(id)
	if err != nil {
		return err
	}
	return p.elements(ctx, read, bucket, from, to, depth)
}

func (p *pages) elements(ctx context.Context, on page, bucket, from, to []byte, depth int) error {
	if on.flags != branchPage && on.flags != leafPage || len(on.data) < pageHeader+on.count*elementSize {
		return fmt.Errorf("page %d is no page of keys", on.id)
	}
	var previous []byte
	for i := range on.count {
		e, ok := on.element(i)
		if !ok || !inOrder(e.key, previous, from, to, i == 0) {
			return fmt.Errorf("key %d of page %d is not in order", i, on.id)
		}
		previous = e.key
		if on.flags == leafPage {
			if err := p.leaf(ctx, e, bucket, depth); err != nil {
				return err
			}
			continue
		}
		end := to
		if next, ok := on.element(i + 1); ok && i+1 < on.count {
			end = next.key
		}
		if err := p.tree(ctx, e.page, bucket, e.key, end, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func inOrder(key, previous, from, to []byte, first bool) bool {
	if !first && bytes.Compare(key, previous) <= 0 {
		return false
	}
	return (from == nil || bytes.Compare(key, from) >= 0) && (to == nil || bytes.Compare(key, to) < 0)
}

func (p *pages) leaf(ctx context.Context, e element, bucket []byte, depth int) error {
	if e.flags&bucketLeaf == 0 {
		return p.see(bucket, e.key, e.value)
	}
	if len(e.value) < bucketHeader {
		return fmt.Errorf("bucket %q cannot be read", e.key)
	}
	root := binary.NativeEndian.Uint64(e.value)
	if root != 0 {
		return p.tree(ctx, root, e.key, nil, nil, depth+1)
	}
	// A small bucket is a page within the value.
	inline := e.value[bucketHeader:]
	if len(inline) < pageHeader {
		return fmt.Errorf("bucket %q cannot be read", e.key)
	}
	return p.elements(ctx, parsePage(0, inline), e.key, nil, nil, depth+1)
}

// element is a key of a branch, with the page below it, or of a leaf, with its value.
type element struct {
	key, value []byte
	page       uint64
	flags      uint32
}

// element returns false where no whole element is.
func (on page) element(i int) (element, bool) {
	at := uint64(pageHeader + i*elementSize)
	if at+elementSize > uint64(len(on.data)) {
		return element{}, false
	}
	u32 := func(field uint64) uint64 { return uint64(binary.NativeEndian.Uint32(on.data[at+field:])) }
	var e element
	var position, key, value uint64
	if on.flags == branchPage {
		position, key = u32(0), u32(4)
		e.page = binary.NativeEndian.Uint64(on.data[at+8:])
	} else {
		e.flags, position, key, value = uint32(u32(0)), u32(4), u32(8), u32(12)
	}
	from := at + position
	if from+key+value > uint64(len(on.data)) {
		return element{}, false
	}
	e.key, e.value = on.data[from:from+key], on.data[from+key:from+key+value]
	return e, true
}

// freelist checks that the free pages are not in use.
func (p *pages) freelist(id uint64) error {
	list, err := p.read(id)
	if err != nil {
		return err
	}
	count, at := uint64(list.count), uint64(pageHeader)
	if list.flags != freelistPage {
		return fmt.Errorf("page %d is no list of free pages", id)
	}
	if count == 0xFFFF {
		count, at = binary.NativeEndian.Uint64(list.data[at:]), at+8
	}
	if count > (uint64(len(list.data))-at)/8 {
		return fmt.Errorf("the list of free pages on page %d is too long", id)
	}
	for range count {
		free := binary.NativeEndian.Uint64(list.data[at:])
		at += 8
		if free < 2 || free >= p.count || p.seen[free/64]&(1<<(free%64)) != 0 {
			return fmt.Errorf("page %d is free, and in use or outside the file", free)
		}
	}
	return nil
}
