// The words that load with the application: each feature's, and those that several share. No
// language translates Kubernetes' own words: kinds, plugins, extension points, fields.

import * as commonEnglish from './common.en'
import * as commonJapanese from './common.ja'
import { gather } from './gather'

const english = import.meta.glob<object>('../features/*/words/en.ts', { eager: true })
const japanese = import.meta.glob<object>('../features/*/words/ja.ts', { eager: true })

export const en = gather([commonEnglish, ...Object.values(english)])
export const ja = gather([commonJapanese, ...Object.values(japanese)])
