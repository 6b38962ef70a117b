package explain

// Unknowns returns a zero value of each kind of what a new node may bring and nobody can say. An answer
// that adds nodes never takes it for a no.
func Unknowns() []Operands {
	return []Operands{DevicesShared{}, DevicesIncomplete{}, StorageNotReported{}, LocalVolumes{}, AttachLimits{}}
}

// DevicesShared: the devices of Pool are not those of the node Like alone, so what a new node adds to them
// is not known. It was counted without.
type DevicesShared struct {
	Like   string `json:"like"`
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
}

// DevicesIncomplete: the node Like has not published all slices of Pool. A new node was counted without
// its devices.
type DevicesIncomplete struct {
	Like   string `json:"like"`
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
}

// StorageNotReported: no CSIStorageCapacity says how much storage of the class a new node reaches, although the
// driver reports storage. The new node was counted without.
type StorageNotReported struct {
	Like  string `json:"like"`
	Class string `json:"class"`
}

// LocalVolumes: the node Like has PersistentVolumes of the class that nobody provisions, and a new node was counted without
// any.
type LocalVolumes struct {
	Like  string `json:"like"`
	Class string `json:"class"`
}

// AttachLimits: the node Like has no CSINode, so a new node was counted without a limit of volumes.
type AttachLimits struct {
	Like string `json:"like"`
}

func (s DevicesShared) english() string {
	return sprintf("The devices of %s in the pool %s are not tied to %s alone. What a new node like it adds to them is not known, and was not counted.", s.Driver, s.Pool, s.Like)
}

func (s DevicesIncomplete) english() string {
	return sprintf("%s has not published all of its devices of %s in the pool %s. Those of a new node like it are not known, and were not counted.", s.Like, s.Driver, s.Pool)
}

func (s StorageNotReported) english() string {
	return sprintf("No CSIStorageCapacity reports how much storage of the class %s a new node like %s reaches. It is not known, and was not counted.", s.Class, s.Like)
}

func (s LocalVolumes) english() string {
	return sprintf("%s has local volumes of the class %s. Those of a new node like it are not known, and were not counted.", s.Like, s.Class)
}

func (s AttachLimits) english() string {
	return sprintf("%s has no CSINode. How many volumes a new node like it can attach is not known, and was not limited.", s.Like)
}
