// A decision as a presentation, one step at a time.

export const present = {
  present: {
    title: 'Presentation of a decision',
    previous: 'Previous step',
    next: 'Next step',
    leave: 'Leave the presentation',
    fullScreen: 'Full screen',
    stepOf: '{n} / {total}',
    stepSaid: 'Step {n} of {total}',
    parts: 'Parts of the presentation',
    part: {
      Queue: 'Pod',
      PreFilter: 'PreFilter',
      Filter: 'Filter',
      Score: 'Score',
      PostFilter: 'Preemption',
      Bind: 'Binding',
      Result: 'Result',
    },
    nodes: 'Nodes at this step',
    blank: 'The screen is blank. Press B to continue.',
    keys: { step: 'step', blank: 'blank', leave: 'leave' },
    gone: 'This attempt is no longer stored.',
    none: 'This pod has no decision yet.',
    pod: {
      title: 'Where will {pod} run?',
      nodes:
        'There are {n} nodes to choose from. | There is {n} node to choose from. | There are {n} nodes to choose from.',
      noNodes: 'The cluster has no nodes.',
      attempt: 'This is attempt {n}.',
      waited: 'The pod waited {time} in the scheduling queue.',
    },
    group: {
      title: '{pod} belongs to pod group {group}',
      members:
        'The scheduler looks for nodes for {n} members together. | ' +
        'The scheduler looks for a node for {n} member. | The scheduler looks for nodes for {n} members together.',
      min: 'At least {n} must fit, or none is placed.',
      already: '{n} already have a node. | {n} already has a node. | {n} already have a node.',
      topology: 'All must run on nodes with the same {key}.',
    },
    placements: {
      title: 'Tried {n} placements | Tried {n} placement | Tried {n} placements',
      text: 'A placement is the set of nodes with one value of {key}. Enough members fit in {fitting} of {n}.',
      of: '{assigned} of {tried} members placed on {nodes} nodes',
      chosen: 'chosen',
    },
    preFilter: {
      title: 'PreFilter looks at the pod, once for all nodes',
      asked: '{n} plugins prepare their checks. | {n} plugin prepares its check. | {n} plugins prepare their checks.',
      skipped: 'Nothing to check for {plugins}: skipped in Filter.',
      narrowed:
        '{plugin} leaves {n} nodes to check. | {plugin} leaves {n} node to check. | {plugin} leaves {n} nodes to check.',
      refusedTitle: '{plugins} rejects the pod before any node is checked',
      refused: '{plugin}: {reasons}',
    },
    sentence: '{text}.',
    passes: {
      title: '{n} plugins reject no node | {plugins} rejects no node | {n} plugins reject no node',
    },
    rejects: {
      title: '{plugin} rejects {n} nodes | {plugin} rejects {n} node | {plugin} rejects {n} nodes',
      framework: 'The framework rejects {n} nodes | The framework rejects {n} node | The framework rejects {n} nodes',
      reason: '“{reason}” on {n} nodes. | “{reason}” on {n} node. | “{reason}” on {n} nodes.',
      one: '“{reason}”.',
      left: 'No node is left. | {n} node is left. | {n} nodes are left.',
    },
    notRun: {
      title: 'No node is left to check',
      text: '{plugins} do not run. | {plugins} does not run. | {plugins} do not run.',
    },
    failed: {
      ignored: '{plugin} fails and is ignored',
      title: '{plugin} fails on {n} nodes | {plugin} fails on {n} node | {plugin} fails on {n} nodes',
    },
    notEvaluated: { title: '{n} nodes are not evaluated | {n} node is not evaluated | {n} nodes are not evaluated' },
    feasible: {
      title:
        '{n} nodes are feasible: which one is best? | {n} node is feasible | {n} nodes are feasible: which one is best?',
      text:
        '{n} plugins give each node 0 to 100 points, and each plugin’s weight multiplies its points. | ' +
        '{n} plugin gives each node 0 to 100 points, and its weight multiplies them. | ' +
        '{n} plugins give each node 0 to 100 points, and each plugin’s weight multiplies its points.',
      skipped: 'Nothing to score for {plugins}: skipped.',
    },
    unscored: {
      title:
        '{n} nodes are feasible, and none is scored | {n} node is left | {n} nodes are feasible, and none is scored',
      nominated: 'Preemption had made room on it before, so the scheduler tried it first. It fits.',
    },
    score: {
      title: '{plugin} × {weight}',
      same:
        'Every node gets the same {n} points, so this changes nothing. | ' +
        'Every node gets the same {n} point, so this changes nothing. | ' +
        'Every node gets the same {n} points, so this changes nothing.',
      none: 'No node gets any points.',
      lead: 'In the lead: {nodes} with {points} points.',
      gain: '{normalized} × {weight}',
      noScore: 'no score',
      bestOf: 'The {n} nodes with the best totals, of {total} scored',
    },
    chosen: {
      title: '{node} wins',
      margin: '{total} points, {margin} more than {next}.',
      tied: '{total} points, as many as {nodes}: one of them is picked at random.',
      alone: 'It is the only node with points.',
      tiedBySeed: '{total} points, as many as {nodes}: the seed picked one of them.',
      unscored: 'The scheduler chooses it without scores.',
    },
    candidates: {
      title:
        'Can preemption make room? {n} candidates | Can preemption make room? {n} candidate | Can preemption make room? {n} candidates',
      none: 'Can preemption make room? No',
      text: 'On a candidate, the pod fits once pods of lower priority are removed.',
      unhelpful: 'No victims on {reasons}.',
      unhelpfulOn: '{n} nodes ({reason}) | {n} node ({reason}) | {n} nodes ({reason})',
    },
    rule: {
      title: 'Rule: {rule}, {wins}',
      equal: 'All candidates tie under: {rules}.',
      out:
        'It eliminates {out} candidates; {left} left. | It eliminates {out} candidate; {left} left. | ' +
        'It eliminates {out} candidates; {left} left.',
      decides: 'It decides for {node}.',
      first: 'The remaining candidates tie under every rule',
    },
    victims: {
      title: '{n} pods make room on {node} | {n} pod makes room on {node} | {n} pods make room on {node}',
      evicted: 'To be evicted: {pods}.',
      stay: '{n} pods of lower priority stay. | {n} pod of lower priority stays. | {n} pods of lower priority stay.',
      violations:
        'This violates {n} PodDisruptionBudgets. | This violates {n} PodDisruptionBudget. | This violates {n} PodDisruptionBudgets.',
    },
    candidate: {
      victims: '{n} victims | {n} victim | {n} victims',
      startsNow: 'not started',
      more: '{n} more candidates | {n} more candidate | {n} more candidates',
    },
    binding: { title: 'From choice to binding', stopped: '{stage} stops the pod', waits: 'The pod waits at {stage}' },
    end: {
      scheduled: 'Scheduled',
      unschedulable: 'No node',
      waiting: 'Waiting',
      error: 'Error',
      preempts: 'No node yet: preemption makes room',
    },
    face: {
      in: 'still in',
      leaving: 'rejected now',
      out: 'rejected',
      failed: 'failed',
      chosen: 'chosen',
      nominated: 'nominated',
      notEvaluated: 'not evaluated',
    },
    more: '{n} more, not evaluated',
    byPlugin: '{state} by {plugin}',
  },
}
