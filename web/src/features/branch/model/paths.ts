// Addresses of the trunk's pages, for a branch's. They lead to another simulator, so they are no routes.

import type { Branch } from '@/api/branches'

/** Where the trunk compares a branch with itself. */
export const comparePath = (name: string): string =>
  `/timeline?${new URLSearchParams({ a: '', b: name, view: 'branches' })}`

/** Where leaving a branch leads: back to the lessons, or to the trunk's cluster. */
export const leavePath = (branch: Pick<Branch, 'purpose'> | undefined): string =>
  branch?.purpose === 'lesson' ? '/learn' : '/'
