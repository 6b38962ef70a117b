import { createRouter, createWebHistory, type RouteRecordRaw } from 'vue-router'
import { base } from './api/base'
import { withDeferredMessages } from './i18n/deferred'
import { lazily } from './ui/lazily'
import ClusterPage from './features/cluster/ClusterPage.vue'

/** The page of the design system; a release does not contain it. */
const development: RouteRecordRaw[] = import.meta.env.DEV
  ? [
      {
        path: '/_parts',
        name: 'parts',
        component: lazily(() => import('./features/shell/PartsPage.vue')),
        meta: { place: '' },
      },
    ]
  : []

export const router = createRouter({
  history: createWebHistory(`${base}/`),
  routes: [
    { path: '/', name: 'cluster', component: ClusterPage, meta: { place: 'cluster' } },
    {
      path: '/capacity',
      name: 'capacity',
      component: withDeferredMessages(lazily(() => import('./features/capacity/CapacityPage.vue'))),
      meta: { place: 'cluster' },
    },
    {
      path: '/numa',
      name: 'numa',
      component: withDeferredMessages(lazily(() => import('./features/numa/NumaPage.vue'))),
      meta: { place: 'cluster' },
    },
    {
      path: '/resources/:resource?',
      name: 'resources',
      component: withDeferredMessages(lazily(() => import('./features/resources/ResourcesPage.vue'))),
      meta: { place: 'resources' },
    },
    {
      path: '/decisions',
      name: 'decisions',
      component: withDeferredMessages(lazily(() => import('./features/decision/DecisionsPage.vue'))),
      meta: { place: 'decisions' },
    },
    {
      path: '/decisions/:namespace/:name',
      name: 'decision',
      component: withDeferredMessages(lazily(() => import('./features/decision/DecisionPage.vue'))),
      meta: { place: 'decisions' },
    },
    {
      path: '/decisions/:namespace/:name/present',
      name: 'present',
      component: withDeferredMessages(lazily(() => import('./features/present/PresentPage.vue'))),
      meta: { place: 'decisions' },
    },
    {
      path: '/compare',
      name: 'compare',
      component: withDeferredMessages(lazily(() => import('./features/decision/ComparePage.vue'))),
      meta: { place: 'decisions' },
    },
    { path: '/batch', name: 'batch', redirect: { name: 'gangs' } },
    {
      path: '/batch/queues',
      name: 'queues',
      component: withDeferredMessages(lazily(() => import('./features/queues/QueuesPage.vue'))),
      meta: { place: 'batch' },
    },
    {
      path: '/batch/gangs',
      name: 'gangs',
      component: withDeferredMessages(lazily(() => import('./features/gang/GangPage.vue'))),
      meta: { place: 'batch' },
    },
    {
      path: '/batch/quotas',
      name: 'quotas',
      component: withDeferredMessages(lazily(() => import('./features/quota/QuotaPage.vue'))),
      meta: { place: 'batch' },
    },
    {
      path: '/batch/sessions',
      name: 'sessions',
      component: withDeferredMessages(lazily(() => import('./features/sessions/SessionsPage.vue'))),
      meta: { place: 'batch' },
    },
    {
      path: '/scheduler',
      name: 'scheduler',
      component: lazily(() => import('./features/scheduler/SchedulerPage.vue')),
      meta: { place: 'scheduler' },
    },
    {
      path: '/activity',
      name: 'activity',
      component: withDeferredMessages(lazily(() => import('./features/activity/ActivityPage.vue'))),
      meta: { place: 'activity' },
    },
    {
      path: '/scenarios',
      name: 'scenarios',
      component: withDeferredMessages(lazily(() => import('./features/runs/RunsPage.vue'))),
      meta: { place: 'scenarios' },
    },
    {
      path: '/scenarios/:id/results/:index/decisions/:uid/:attempt',
      name: 'runDecision',
      component: withDeferredMessages(lazily(() => import('./features/report/RunDecisionPage.vue'))),
      meta: { place: 'scenarios' },
    },
    {
      path: '/learn',
      name: 'learn',
      component: withDeferredMessages(lazily(() => import('./features/learn/LearnPage.vue'))),
      meta: { place: 'learn' },
    },
    {
      path: '/learn/predict',
      name: 'predict',
      component: withDeferredMessages(lazily(() => import('./features/learn/PredictPage.vue'))),
      meta: { place: 'learn' },
    },
    {
      path: '/learn/:id',
      name: 'lesson',
      component: withDeferredMessages(lazily(() => import('./features/learn/LessonPage.vue'))),
      meta: { place: 'learn' },
    },
    {
      path: '/learn/:id/predict/:check',
      name: 'lessonPredict',
      component: withDeferredMessages(lazily(() => import('./features/learn/LessonPredictPage.vue'))),
      meta: { place: 'learn' },
    },
    {
      path: '/timeline',
      name: 'timeline',
      component: withDeferredMessages(lazily(() => import('./features/timeline/TimelinePage.vue'))),
      meta: { place: 'timeline' },
    },
    {
      path: '/report',
      name: 'report',
      component: withDeferredMessages(lazily(() => import('./features/report/ReportPage.vue'))),
      meta: { place: 'decisions' },
    },
    {
      path: '/replay',
      name: 'replay',
      component: withDeferredMessages(lazily(() => import('./features/replay/ReplayPage.vue'))),
      meta: { place: '' },
    },
    ...development,
    {
      path: '/:rest(.*)*',
      name: 'notFound',
      component: lazily(() => import('./features/shell/NotFoundPage.vue')),
      meta: { place: '' },
    },
  ],
})
