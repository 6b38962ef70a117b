// Demonstrations: a scenario that a new workspace plays before it is shown.

import { parse } from 'yaml'
import type { BranchCall } from '@/api/branches'

export interface SceneStep {
  objects: readonly object[]
  /** A CEL expression that must be true before the next step. */
  until?: string
}

/** The call that plays the steps, after a configuration in YAML if there is one. */
export const plays = (name: string, steps: readonly SceneStep[], configuration?: string): BranchCall => ({
  method: 'POST',
  path: '/api/v1/play',
  body: {
    apiVersion: 'kube-scheduler-simulator.sigs.k8s.io/v1alpha1',
    kind: 'Scenario',
    metadata: { name },
    steps: [
      ...(configuration ? [{ configure: parse(configuration) as object }] : []),
      ...steps.flatMap(({ objects, until }) => {
        const nodes = objects.filter(isNode)
        const others = objects.filter((o) => !isNode(o))
        return [
          ...(nodes.length ? [{ apply: { objects: nodes } }, { wait: { for: ready(nodes) } }] : []),
          ...(others.length ? [{ apply: { objects: others } }] : []),
          ...(until ? [{ wait: { for: until } }] : []),
        ]
      }),
    ],
  },
})

interface Named {
  kind?: string
  metadata?: { name?: string }
}
const isNode = (o: Named) => o.kind === 'Node'
/** Before that, the first attempts of pods would be about nodes that are not ready yet. */
const ready = (nodes: readonly Named[]) =>
  forEach(
    nodes.map(({ metadata }) => metadata?.name ?? ''),
    'objects("Node").exists(x, x.metadata.name == n && ' +
      '(!has(x.spec.taints) || x.spec.taints.all(t, t.key != "node.kubernetes.io/not-ready")))'
  )

/** In CEL: the condition holds for each of the names, which it calls n. */
export const forEach = (names: readonly string[], condition: string): string =>
  `${JSON.stringify(names)}.all(n, ${condition})`
