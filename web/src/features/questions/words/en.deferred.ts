// The pages Why and What if.

export const questions = {
  questions: {
    pending: 'Why are {n} pods pending? | Why is {n} pod pending? | Why are {n} pods pending?',
    longestFirst: 'longest first',
    pendingFor: '{namespace}, pending for {age}',
    nonePending: 'No pod is pending: every pod has a node.',
    noPods: 'This cluster has no pods yet.',
    other: 'Other questions',
    latest: 'Latest decisions',
    allDecisions: 'All decisions',
    node: 'Name of a node',
    here: {
      title: 'Why here and not there?',
      last: 'Last: {pod} on {node}, one of {n} feasible nodes.',
      none: 'No pod has had a choice between nodes yet.',
    },
    not: {
      title: 'Why not this node?',
      body: 'Choose a node: every decision that rejected it, with the plugin that did.',
      act: 'Show decisions',
    },
    group: {
      title: 'Why does my group or job wait?',
      body: 'Pod groups, job queues, quotas and the sessions of batch schedulers, each on a board of its own.',
    },
    evicted: {
      title: 'Why was my pod evicted?',
      last: 'Last preemption: {pod} made room on {node}.',
      none: 'No recent decision preempted a pod.',
    },
    whatIf: 'What if…?',
    whatIfLead: 'Questions about what is not so. Nothing changes in the cluster until you apply an answer.',
    fit: {
      title: 'What would make a pod fit?',
      body: 'The smallest changes of the pod, of a node or of the cluster that let it in, each confirmed by the scheduler.',
      none: 'No pod is pending. When one is, the smallest changes that let it in are a click away.',
    },
    room: { body: 'How many more of a pod fit, where, and what stops the next one.', act: 'Count them' },
    autoscaling: {
      title: 'What would an autoscaler do?',
      body: 'Which node Karpenter would add for the pods that wait, at what price, and which of its nodes could go.',
      act: 'Open autoscaling',
    },
    pod: {
      title: 'Where would a new pod go?',
      body: 'Write a pod. Before you create it, the map shows where the scheduler would put it.',
      act: 'Write a pod',
    },
    configuration: {
      title: 'What would another configuration decide?',
      body: 'Turn weights and plugins of revision {n}, and see which decisions would differ before you apply it.',
      act: 'Open the scheduler',
    },
    upgrade: {
      title: 'What would another version of Kubernetes decide?',
      body: 'Which decisions differ after an upgrade, and which plugin and feature gate are behind each difference.',
      act: 'Open the upgrade report',
    },
    drain: {
      title: 'What if a node went away?',
      body: 'Choose a node: where its pods would land, which stay without a node, and which budgets stop the drain.',
      act: 'Drain…',
    },
    scenario: {
      title: 'What if all of it happened, many times?',
      body: 'Scenarios play a story and check what must hold. Sweeps repeat one over weights, seeds and sizes.',
      act: 'Open scenarios',
    },
  },
}
