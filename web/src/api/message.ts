// What can be said of anything that was thrown. Workers use it, too, so it imports nothing.

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
