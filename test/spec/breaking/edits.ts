/** What an edit changes, in words, and what the check must say of it. */
export type Edit<Case> = readonly [name: string, verdict: 'breaks' | 'passes', edit: (one: Case) => unknown];
