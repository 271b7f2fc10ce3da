import { Ajv } from 'ajv';
import { parseDocument } from 'yaml';
import type { BreakingChange } from './judge.ts';

/** An approved breaking change. */
export interface Approval {
  at: string;
  /** The message of the check, so that the approval does not cover another change at the same place. */
  change: string;
  reason: string;
}

const text = { type: 'string', pattern: '\\S' };
const isApprovals = new Ajv({ allErrors: true }).compile<Approval[]>({
  type: 'array',
  items: {
    type: 'object',
    required: ['at', 'change', 'reason'],
    additionalProperties: false,
    properties: { at: text, change: text, reason: text },
  },
});

/** Parses approved-changes.yaml. @throws Error with all mistakes */
export function readApprovals(yaml: string): Approval[] {
  const document = parseDocument(yaml);
  const file: unknown = document.toJS() ?? [];
  const mistakes = [
    ...document.errors.map(({ message }) => message),
    ...(isApprovals(file)
      ? []
      : (isApprovals.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)),
  ];
  if (mistakes.length > 0) throw new Error(mistakes.join('; '));
  return file as Approval[];
}

export interface Approved {
  unapproved: BreakingChange[];
  approved: (BreakingChange & { reason: string })[];
  /** Approvals that match no breaking change. */
  unused: Approval[];
}

export function approve(breaking: readonly BreakingChange[], approvals: readonly Approval[]): Approved {
  const fits = (one: BreakingChange) => (approval: Approval) =>
    approval.at === one.at && approval.change === one.change;
  return {
    unapproved: breaking.filter((one) => !approvals.some(fits(one))),
    approved: breaking.flatMap((one) => {
      const approval = approvals.find(fits(one));
      return approval === undefined ? [] : [{ ...one, reason: approval.reason }];
    }),
    unused: approvals.filter((approval) => !breaking.some((one) => fits(one)(approval))),
  };
}
