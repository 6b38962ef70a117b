import { createRouter, createWebHistory, type RouteRecordRaw } from 'vue-router'
import { withLater } from './i18n/later'
import ClusterPage from './pages/ClusterPage.vue'

/** The design system's own page; a release does not hold it. */
const development: RouteRecordRaw[] = import.meta.env.DEV ? [{ path: '/_parts', name: 'parts', component: () => import('./pages/PartsPage.vue'), meta: { place: '' } }] : []

export const router = createRouter({
  history: createWebHistory(),
  routes: [
    { path: '/', name: 'cluster', component: ClusterPage, meta: { place: 'cluster' } },
    { path: '/resources/:resource?', name: 'resources', component: () => import('./pages/ResourcesPage.vue'), meta: { place: 'resources' } },
    { path: '/decisions', name: 'decisions', component: () => import('./pages/DecisionsPage.vue'), meta: { place: 'decisions' } },
    { path: '/decisions/:namespace/:name', name: 'decision', component: () => import('./pages/DecisionPage.vue'), meta: { place: 'decisions' } },
    { path: '/scheduler', name: 'scheduler', component: () => import('./pages/SchedulerPage.vue'), meta: { place: 'scheduler' } },
    { path: '/activity', name: 'activity', component: () => import('./pages/ActivityPage.vue'), meta: { place: 'activity' } },
    { path: '/replay', name: 'replay', component: withLater(() => import('./pages/ReplayPage.vue')), meta: { place: '' } },
    ...development,
    { path: '/:rest(.*)*', name: 'notFound', component: () => import('./pages/NotFoundPage.vue'), meta: { place: '' } },
  ],
})
