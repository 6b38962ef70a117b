// What was typed between the keys that open the command palette and its appearance.

import { ref } from 'vue'

export const typedAhead = ref('')
