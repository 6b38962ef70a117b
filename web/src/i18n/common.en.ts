// Texts that every page uses.

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
    notFound: 'Page not found',
    goHome: 'Go to the cluster',
    errorTitle: 'Could not load',
    requestFailed: 'The request failed',
    separator: ', ',
    /** Stands between two sentences. */
    sentenceGap: ' ',
    partMissing: 'This part of the application is not loaded yet. It opens when the simulator responds.',
    noAnswer: 'The server did not respond ({message}).',
  },
  outcome: { scheduled: 'scheduled', unschedulable: 'unschedulable', waiting: 'waiting', error: 'error' },
  cell: { P: 'passed', R: 'rejected', S: 'skipped', N: 'not run', E: 'error', U: 'not evaluated' },
}
