// Branches: simulators beside the trunk.

export const branch = {
  branch: {
    band: 'Branch',
    label: 'Branch',
    sandbox: 'Sandbox',
    pastOfTrunk: 'from the trunk at {time}',
    pastOfBranch: 'from {name} at {time}',
    sinceTrunk: 'from the trunk, created {time}',
    sinceBranch: 'from {name}, created {time}',
    compare: 'Compare with the trunk',
    leave: 'Back to the trunk',
    leaveLesson: 'Leave the lesson',
    start: 'Start again',
    gone: 'It was deleted.',
    stopped: 'The branch has stopped.',
    stoppedBody: 'Its cluster is kept. Start it to go on.',
    failed: 'The branch has failed: {message}',
    goneTitle: 'There is no branch {name}',
    goneBody: 'It may have been deleted.',
    failedTitle: 'The branch cannot run',
    startingTitle: 'The branch is starting',
    startingBody: 'It gets a control plane and a scheduler of its own.',
  },
}
