// Consequences of failures on demand and of deletion, and drains.

export const nodeAction = {
  nodeAction: {
    many: '{n} nodes | {n} node | {n} nodes',
    action: { drain: 'Drain', uncordon: 'Uncordon' },
    ask: { drain: 'Drain {name}?' },
    follows: 'What happens next',
    tainted: 'Within seconds the node gets the taint {taint}, and no new pods are scheduled on it.',
    noPods: 'It has no pods.',
    evictedAfter:
      '{pods} are evicted after {time}, unless the node recovers first. | ' +
      '{pods} is evicted after {time}, unless the node recovers first. | ' +
      '{pods} are evicted after {time}, unless the node recovers first.',
    evictedAtOnce: '{pods} are evicted immediately. | {pods} is evicted immediately. | {pods} are evicted immediately.',
    staying:
      '{pods} stay: they tolerate the taint indefinitely. | {pods} stays: it tolerates the taint indefinitely. | ' +
      '{pods} stay: they tolerate the taint indefinitely.',
    replaced: 'Their controllers create replacements on other nodes.',
    terminating:
      'Evicted pods stay Terminating until the node recovers or is deleted, because its kubelet cannot stop them.',
    stopping: 'Its kubelet still runs and stops pods.',
    endsWith: 'The node keeps failing until you recover it.',
    deleted:
      '{pods} are on it. They are garbage-collected after about a minute, and their controllers create ' +
      'replacements. | {pods} is on it. It is garbage-collected after about a minute, and its controller creates ' +
      'a replacement. | {pods} are on it. They are garbage-collected after about a minute, and their controllers ' +
      'create replacements.',
    drainCordons: 'The node is cordoned, then its pods are evicted.',
    drainEvicts: '{pods} to evict, as PodDisruptionBudgets allow. Blocked evictions are retried every 5 seconds.',
    drainNothing: 'No pods to evict.',
    drainDaemons: '{pods} of DaemonSets stay. | {pods} of a DaemonSet stays. | {pods} of DaemonSets stay.',
    drainUnmanaged:
      '{pods} without a controller: nothing recreates them. | ' +
      '{pods} without a controller: nothing recreates it. | {pods} without a controller: nothing recreates them.',
    draining: 'Draining {name}',
    drained: '{name} is drained: {pods} evicted',
    drainStopped: 'The drain of {name} was stopped: {done} of {total} pods evicted. The node stays cordoned.',
    drainFailed: 'The drain of {name} ended: {failed} of {total} pods could not be evicted',
    drainCordonFailed: 'Could not cordon {name}: {message}',
    progress: '{done} of {total} evicted',
    blocked:
      '{n} blocked by a disruption budget, retrying | {n} blocked by a disruption budget, retrying | ' +
      '{n} blocked by disruption budgets, retrying',
    failedPods: '{n} failed',
    goesOn: 'The drain continues if you close this dialog, until you leave the page.',
    stop: 'Stop',
    blockedState: 'waiting for its budget',
    failedState: 'failed',
  },
}
