// Files and folders of a drop. The browser clears a drop when its event ends, so the
// entries are taken immediately and read afterwards.

export interface DroppedFile {
  file: File
  path: string
}

/** The files of a drop including those in folders, at most `most`. Call it while handling the event. */
export function filesOf(transfer: DataTransfer, most = 5000): Promise<DroppedFile[]> {
  const entries = [...transfer.items].flatMap((item) => {
    const entry = item.kind === 'file' ? (item.webkitGetAsEntry?.() ?? undefined) : undefined
    return entry ? [entry] : []
  })
  const plain = [...transfer.files].map((file) => ({ file, path: file.name }))
  return entries.some((entry) => entry.isDirectory) ? readAll(entries, most) : Promise.resolve(plain)
}

async function readAll(entries: readonly FileSystemEntry[], most: number): Promise<DroppedFile[]> {
  const found: DroppedFile[] = []
  const waiting = [...entries]
  for (let entry = waiting.shift(); entry && found.length < most; entry = waiting.shift()) {
    if (entry.isDirectory) waiting.push(...(await listFolder(entry as FileSystemDirectoryEntry)))
    else found.push({ file: await fileOf(entry as FileSystemFileEntry), path: entry.fullPath.replace(/^\//, '') })
  }
  return found
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

async function listFolder(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const found: FileSystemEntry[] = []
  // A reader returns a hundred entries at a time, and none at the end.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (!part.length) return found
    found.push(...part)
  }
}

/** Whether a drag contains files rather than text or a link. */
export function bringsFiles(transfer: DataTransfer | null): boolean {
  return !!transfer && [...transfer.types].includes('Files')
}
