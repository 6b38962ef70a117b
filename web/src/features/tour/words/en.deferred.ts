// The steps of the tour.

export const tour = {
  tourSteps: {
    next: 'Next',
    back: 'Back',
    end: 'End the tour',
    finish: 'Finish',
    show: 'Take me there',
    create: 'Create a full node and an urgent pod',
    sample: {
      title: 'Start with a cluster',
      body: 'One click creates twelve nodes in three zones and pods of several kinds. The real kube-scheduler places them while you watch.',
    },
    pod: {
      title: 'Choose a pod',
      body:
        'Choose one here, among the pending pods, or on a node. The map then shows its decision: ' +
        'which plugin rejected each node, and what each feasible node scored.',
    },
    decision: {
      title: 'Look inside the decision',
      body: 'Every extension point, each plugin’s verdict on each node, and how the totals add up.',
    },
    filter: {
      title: 'Read Filter from left to right',
      body:
        'Each row is a node, each column a plugin in the order in which it ran. The first ✕ is final: ' +
        'later plugins did not run for that node. Click a cell to see what the plugin compared.',
    },
    score: {
      title: 'Add up the scores',
      body:
        'Each plugin gives a node 0 to 100 points, and its weight multiplies them. ' +
        'The node with the highest total wins. A column with the same number everywhere decides nothing.',
    },
    preempt: {
      title: 'What if no node has room?',
      body: 'Then a pod of higher priority may evict others. This creates a small node, two pods that fill it, and an urgent pod.',
    },
    preemption: {
      title: 'Read a preemption',
      body:
        'In attempt 1, the pod fit no node. Dry runs then looked for nodes where removing pods makes room, and ' +
        'rules chose one of them. Attempt 2 used that room.',
    },
    more: {
      title: 'Continue on your own',
      body:
        'Create has templates for taints, affinity, spreading, volumes and more, each with something to look for. ' +
        'On a decision, P presents it step by step. Help starts this tour again.',
    },
  },
}
