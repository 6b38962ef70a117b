// Words that the first page does not need: those of dialogs and of pages that are rarely opened.

import { gather } from './gather'

const english = import.meta.glob<object>('../features/*/words/en.deferred.ts', { eager: true })
const japanese = import.meta.glob<object>('../features/*/words/ja.deferred.ts', { eager: true })

export const en = gather(Object.values(english))
export const ja = gather(Object.values(japanese))
