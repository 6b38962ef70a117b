import { t } from '@/i18n'
import type { View } from './model/places'

/** What a view is called among those of its place. The page of the map is called Cluster. */
export const viewName = (view: View): string => t(view === 'cluster' ? 'nav.map' : `nav.${view}`)
