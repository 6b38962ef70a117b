// Pages that show a file: there is no cluster behind the names, so they lead nowhere and nothing
// can be done to what they name.

import { inject, provide, type InjectionKey } from 'vue'

const key: InjectionKey<boolean> = Symbol('stands alone')

/** Makes the components below the calling one show names without links and menus. */
export const standAlone = (): void => provide(key, true)

/** Whether the page shows a file. Call it in setup. */
export const useStandsAlone = (): boolean => inject(key, false)
