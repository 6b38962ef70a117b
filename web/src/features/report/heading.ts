import type { InjectionKey } from 'vue'

/** The element of a report's name: the heading of a file, and one below the heading of a page. */
export const reportHeading: InjectionKey<'h1' | 'h2'> = Symbol('heading of a report')
