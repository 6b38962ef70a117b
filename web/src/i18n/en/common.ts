// Words that every place uses.

export const common = {
  common: {
    close: 'Close',
    cancel: 'Cancel',
    delete: 'Delete',
    dismiss: 'Dismiss',
    copy: 'Copy',
    copied: 'Copied',
    none: 'none',
    all: 'All',
    more: '{n} more',
    nodes: '{n} nodes | {n} node | {n} nodes',
    pods: '{n} pods | {n} pod | {n} pods',
    attempt: 'attempt {n}',
    retry: 'Try again',
    loading: 'Loading',
    notFound: 'There is nothing at this address',
    goHome: 'Go to the cluster',
    errorTitle: 'That did not work',
    noAnswer: 'The server did not answer ({message}).',
  },
  outcome: { scheduled: 'scheduled', unschedulable: 'unschedulable', waiting: 'waiting', error: 'error' },
  cell: { P: 'passed', R: 'rejected', S: 'skipped', N: 'not run', E: 'error', U: 'not evaluated' },
}
