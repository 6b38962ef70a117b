/** The page where somebody begins who has never seen a scheduler decide. */
export const firstLesson = { name: 'lesson', params: { id: 'decides' } }
