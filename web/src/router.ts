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
        meta: { view: '' },
      },
    ]
  : []

export const router = createRouter({
  history: createWebHistory(`${base}/`),
  routes: [
    { path: '/', name: 'cluster', component: ClusterPage, meta: { view: 'cluster' } },
    {
      path: '/why',
      name: 'why',
      component: withDeferredMessages(lazily(() => import('./features/questions/WhyPage.vue'))),
      meta: { view: 'why' },
    },
    {
      path: '/what-if',
      name: 'whatIf',
      component: withDeferredMessages(lazily(() => import('./features/questions/WhatIfPage.vue'))),
      meta: { view: 'whatIf' },
    },
    {
      path: '/capacity',
      name: 'capacity',
      component: withDeferredMessages(lazily(() => import('./features/capacity/CapacityPage.vue'))),
      meta: { view: 'capacity' },
    },
    {
      path: '/numa',
      name: 'numa',
      component: withDeferredMessages(lazily(() => import('./features/numa/NumaPage.vue'))),
      meta: { view: 'numa' },
    },
    {
      path: '/autoscaling',
      name: 'autoscaling',
      component: withDeferredMessages(lazily(() => import('./features/autoscaling/AutoscalingPage.vue'))),
      meta: { view: 'autoscaling' },
    },
    {
      path: '/drain',
      name: 'drain',
      component: withDeferredMessages(lazily(() => import('./features/drain/DrainPage.vue'))),
      meta: { view: 'drain' },
    },
    {
      path: '/upgrade',
      name: 'upgrade',
      component: withDeferredMessages(lazily(() => import('./features/upgrade/UpgradePage.vue'))),
      meta: { view: 'upgrade' },
    },
    {
      path: '/resources/:resource?',
      name: 'resources',
      component: withDeferredMessages(lazily(() => import('./features/resources/ResourcesPage.vue'))),
      meta: { view: 'resources' },
    },
    {
      path: '/decisions',
      name: 'decisions',
      component: withDeferredMessages(lazily(() => import('./features/decision/DecisionsPage.vue'))),
      meta: { view: 'decisions' },
    },
    {
      path: '/decisions/:namespace/:name',
      name: 'decision',
      component: withDeferredMessages(lazily(() => import('./features/decision/DecisionPage.vue'))),
      meta: { view: 'decisions' },
    },
    {
      path: '/decisions/:namespace/:name/present',
      name: 'present',
      component: withDeferredMessages(lazily(() => import('./features/present/PresentPage.vue'))),
      meta: { view: 'decisions' },
    },
    {
      path: '/compare',
      name: 'compare',
      component: withDeferredMessages(lazily(() => import('./features/decision/ComparePage.vue'))),
      meta: { view: 'compare' },
    },
    { path: '/batch', name: 'batch', redirect: { name: 'gangs' } },
    {
      path: '/batch/queues',
      name: 'queues',
      component: withDeferredMessages(lazily(() => import('./features/queues/QueuesPage.vue'))),
      meta: { view: 'batch' },
    },
    {
      path: '/batch/gangs',
      name: 'gangs',
      component: withDeferredMessages(lazily(() => import('./features/gang/GangPage.vue'))),
      meta: { view: 'batch' },
    },
    {
      path: '/batch/quotas',
      name: 'quotas',
      component: withDeferredMessages(lazily(() => import('./features/quota/QuotaPage.vue'))),
      meta: { view: 'batch' },
    },
    {
      path: '/batch/sessions',
      name: 'sessions',
      component: withDeferredMessages(lazily(() => import('./features/sessions/SessionsPage.vue'))),
      meta: { view: 'batch' },
    },
    {
      path: '/batch/submit',
      name: 'submit',
      component: withDeferredMessages(lazily(() => import('./features/submit/SubmitPage.vue'))),
      meta: { view: 'batch' },
    },
    {
      path: '/scheduler',
      name: 'scheduler',
      component: lazily(() => import('./features/scheduler/SchedulerPage.vue')),
      meta: { view: 'scheduler' },
    },
    {
      path: '/events',
      name: 'events',
      component: withDeferredMessages(lazily(() => import('./features/events/EventsPage.vue'))),
      meta: { view: 'events' },
    },
    // Once the cycles and the events had a page together.
    {
      path: '/activity',
      redirect: ({ query: { feed, ...query } }) => ({ name: feed === 'events' ? 'events' : 'decisions', query }),
    },
    {
      path: '/scenarios',
      name: 'scenarios',
      component: withDeferredMessages(lazily(() => import('./features/runs/RunsPage.vue'))),
      meta: { view: 'scenarios' },
    },
    {
      path: '/scenarios/:id/results/:index/decisions/:uid/:attempt',
      name: 'runDecision',
      component: withDeferredMessages(lazily(() => import('./features/report/RunDecisionPage.vue'))),
      meta: { view: 'scenarios' },
    },
    {
      path: '/learn',
      name: 'learn',
      component: withDeferredMessages(lazily(() => import('./features/learn/LearnPage.vue'))),
      meta: { view: 'learn' },
    },
    {
      path: '/learn/predict',
      name: 'predict',
      component: withDeferredMessages(lazily(() => import('./features/learn/PredictPage.vue'))),
      meta: { view: 'predict' },
    },
    {
      path: '/learn/glossary',
      name: 'glossary',
      component: withDeferredMessages(lazily(() => import('./features/learn/GlossaryPage.vue'))),
      meta: { view: 'glossary' },
    },
    {
      path: '/learn/:id',
      name: 'lesson',
      component: withDeferredMessages(lazily(() => import('./features/learn/LessonPage.vue'))),
      meta: { view: 'learn' },
    },
    {
      path: '/learn/:id/predict/:check',
      name: 'lessonPredict',
      component: withDeferredMessages(lazily(() => import('./features/learn/LessonPredictPage.vue'))),
      meta: { view: 'predict' },
    },
    {
      path: '/import',
      name: 'import',
      component: withDeferredMessages(lazily(() => import('./features/placement/PlacementPage.vue'))),
      meta: { view: 'import' },
    },
    {
      path: '/timeline',
      name: 'timeline',
      component: withDeferredMessages(lazily(() => import('./features/timeline/TimelinePage.vue'))),
      meta: { view: 'timeline' },
    },
    {
      path: '/report',
      name: 'report',
      component: withDeferredMessages(lazily(() => import('./features/report/ReportPage.vue'))),
      meta: { view: 'decisions' },
    },
    {
      path: '/replay',
      name: 'replay',
      component: withDeferredMessages(lazily(() => import('./features/replay/ReplayPage.vue'))),
      meta: { view: 'replay' },
    },
    ...development,
    {
      path: '/:rest(.*)*',
      name: 'notFound',
      component: lazily(() => import('./features/shell/NotFoundPage.vue')),
      meta: { view: '' },
    },
  ],
})
