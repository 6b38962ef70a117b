// What was typed between the keys that open the command palette and its appearance. A line break
// stands for Enter.

import { ref } from 'vue'

export const typedAhead = ref('')
