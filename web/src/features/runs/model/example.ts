// What is in the editor when a user opens the page for the first time: a scenario of the gallery, and
// a sweep of it.

import { galleryText } from './gallery'

export const exampleScenario = galleryText('a-node-fails')

/** The name by which a sweep in the editor finds the scenario in the editor. */
export const scenarioFile = 'scenario.yaml'

export const exampleSweep = `apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Sweep
metadata: {name: a-node-fails-weights}
scenario: ${scenarioFile}
seed: 1..3
parameters:
- name: strategy
  plugin: NodeResourcesFit
  args: scoringStrategy.type
  values: [LeastAllocated, MostAllocated]
- name: spread
  plugin: PodTopologySpread
  weight: [off, 2, 5]
- name: fit
  plugin: NodeResourcesFit
  weight: [1, 2, 5, 10]
metrics:
- name: skew
  value: spread(web, "zone")
- name: nodes in use
  value: nodes.filter(n, n.pods > 0).size()
best:
- most: passed
- least: skew
- least: nodes in use
`
