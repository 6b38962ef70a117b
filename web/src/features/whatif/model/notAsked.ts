/** Those who have a say about a pod and whom a question does not ask. */
export const notAskedParties = ['permit', 'extenders', 'autoscalers', 'controllers', 'gates'] as const

/** Their names, as an answer has them. */
export type NotAsked = Partial<Record<`${(typeof notAskedParties)[number]}NotAsked`, readonly string[]>>
