// Names in the clipboard: a browser copies the two parts of a NameText as two lines.

/** The text with the names of the elements in one piece. */
export function wholeNames(text: string, names: readonly HTMLElement[]): string {
  return names.reduce(
    (all, { dataset, children }) =>
      all.replaceAll([...children].map((part) => part.textContent).join('\n'), dataset.name ?? ''),
    text
  )
}

/** Installs the listener; the returned function removes it. */
export function copyWholeNames(root: Document = document): () => void {
  const onCopy = (event: ClipboardEvent) => {
    const selection = root.getSelection()
    const text = selection?.toString() ?? ''
    const whole = wholeNames(
      text,
      [...root.querySelectorAll<HTMLElement>('[data-name]')].filter((name) => selection?.containsNode(name, true))
    )
    if (whole === text || !event.clipboardData) return
    event.clipboardData.setData('text/plain', whole)
    event.preventDefault()
  }
  root.addEventListener('copy', onCopy)
  return () => root.removeEventListener('copy', onCopy)
}
