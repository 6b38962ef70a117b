/** Words by their dotted key. */
export type Words = { [key: string]: string | Words }

/** The words that modules export, as one tree. */
export const gather = (modules: readonly object[]): Words =>
  Object.assign({}, ...modules.flatMap((module) => Object.values(module) as Words[])) as Words
