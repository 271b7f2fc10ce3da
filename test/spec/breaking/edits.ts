/** An edit of a contract, its description and the expected verdict. */
export type Edit<Case> = readonly [name: string, verdict: 'breaks' | 'passes', edit: (one: Case) => unknown];
