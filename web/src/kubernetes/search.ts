// How every filter searches: for all words, in any order and case.

/** Whether a text has every word of the search; undefined if there is none to look for. */
export function finder(search: string): ((text: string) => boolean) | undefined {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (!words.length) return undefined
  return (text) => {
    const all = text.toLowerCase()
    return words.every((word) => all.includes(word))
  }
}
