// A decision as a file that opens without a server.

export const report = {
  report: {
    title: 'in {namespace}, attempt {n}',
    attemptOf: '{pod}, attempt {n}',
    recorded: 'recorded',
    sides: 'Decision to show',
    differences: 'From A, {a}, to B, {b}',
    scheduler: 'Scheduler',
    profile: 'profile {name}',
    configuration: 'Configuration',
    attempt: 'Outcome',
    nodes: '{total} nodes, {evaluated} evaluated, {feasible} feasible',
    decided: 'Decided',
    exported: 'exported {time}',
    simulator: 'Simulator',
    names: 'names as they are in the cluster',
    unchanged: 'The record is unchanged since its export (SHA-256 {sum}).',
    changed: 'The record was changed since its export. Do not trust it.',
    alone: 'This file opens without a server or a network, and calls none.',
    holds: '{size}, {n} decision inside | {size}, {n} decision inside | {size}, {n} decisions inside',
    download: 'Download as a file that opens without a server',
    openTitle: 'Open a report',
    openHint: 'A report is an HTML file that holds one decision. The download button of a decision saves one. Drop it here, or choose it.',
    choose: 'Choose a file…',
    close: 'Close the report',
    failed: {
      noReport: '{file} is not a report of a decision.',
      damaged: '{file} is a report, but what it holds cannot be read. Ask for the file again.',
      tooNew: '{file} is from a later version of the simulator. Open it in a browser, or update this simulator.',
    },
  },
}
