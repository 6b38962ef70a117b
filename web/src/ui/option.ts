/** A value to choose, and its label. */
export interface Option<T extends string = string> {
  value: T
  label: string
}
