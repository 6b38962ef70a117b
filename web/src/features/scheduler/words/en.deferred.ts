// The dials of the scheduler's plugins, and what a draft would change.

export const dial = {
  dial: {
    weight: ', weight',
    weightOf: 'Weight of {plugin}',
    typeIt: 'Type a weight',
    typeWeightOf: 'Type the weight of {plugin}, now {weight}',
    fromDefault: 'default {usual} → {weight}',
    switch: '{plugin} in {point}',
    runs: 'runs, click to switch off',
    fixed: 'cannot be switched off',
    usual: 'default weight',
    keyStep: 'by 1,',
    keyUsual: 'default',
    consequences: 'What the draft would change',
    asking: 'Asking where the pods of the last decisions would go now…',
    asked: 'The last {n} pods, asked again | The last pod, asked again | The last {n} pods, asked again',
    askingOn: 'judging…',
    took: '{ms} ms',
    again: 'Asked at {time}. Ask again',
    noDecisions: 'No pod to ask about yet: nothing has been decided, or the pods are gone.',
    ofLastValid: 'The draft has errors. This is what its last valid text would change.',
    soleWeight: '{plugin} × {weight}:',
    wouldDiffer: '{n} of {total} would go elsewhere.',
    noneDiffers: 'None of {n} would go elsewhere. | It would go to the same node. | None of {n} would go elsewhere.',
    soFar: 'So far; the rest is being judged.',
    decides:
      '{plugin} in {point} decides {n} of them. | {plugin} in {point} decides one of them. | {plugin} in {point} decides {n} of them.',
    mostTo: '{n} would go to {node}. | One would go to {node}. | {n} would go to {node}.',
    mapTitle: 'Where they would land',
    mapKey: 'running → draft; dashed: changed',
    mapOf: '{n} nodes; {changed} would get more or fewer pods',
    moreNodes: 'and {n} more nodes | and 1 more node | and {n} more nodes',
    workload: 'Workload',
    moves: 'moves',
    nOf: '{n} of {of}',
    fromTo: 'from → to',
    decidedBy: 'decided by',
    nodes: '{n} nodes | 1 node | {n} nodes',
    moreWorkloads: 'and {n} more workloads | and 1 more workload | and {n} more workloads',
    each: 'Each decision',
    means:
      'Both configurations were asked about each pod, on the cluster as it is now, as if that pod alone were not placed. ' +
      'This does not repeat the past.',
    nothingMoves: 'No pod moves when you apply: only pods that are decided from then on are affected.',
    stayPending: '{n} pods would stay pending. | 1 pod would stay pending. | {n} pods would stay pending.',
    moreMoved: 'and {n} more pods | and 1 more pod | and {n} more pods',
    liveShadow: 'Judge live decisions with it, too',
    recreateHead: 'Revision {n} is running, and every pod is where it was',
    recreateBody:
      'In a workspace, {n} pods can be created again under it, to compare with this cluster, which stays as it is. | ' +
      'In a workspace, 1 pod can be created again under it, to compare with this cluster, which stays as it is. | ' +
      'In a workspace, {n} pods can be created again under it, to compare with this cluster, which stays as it is.',
    recreateDo: 'Create the pods again in a workspace',
    recreating: 'Opening',
    recreateTitle: 'Pods under revision {n}',
  },
}
