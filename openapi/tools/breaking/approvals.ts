import { Ajv } from 'ajv';
import { parseDocument } from 'yaml';
import { ajvMessage } from '../ajv-message.ts';
import type { Change } from './change.ts';

/** An approved breaking change. */
export interface Approval {
  at: string;
  /** The message of the check, so that the approval does not cover another change at the same place. */
  change: string;
  reason: string;
  /** The part of the version to raise, if the change affects no client. The default is `major`. */
  bump?: 'minor' | 'patch';
}

const text = { type: 'string', pattern: '\\S' };
const isApprovals = new Ajv({ allErrors: true }).compile<Approval[]>({
  type: 'array',
  items: {
    type: 'object',
    required: ['at', 'change', 'reason'],
    additionalProperties: false,
    properties: { at: text, change: text, reason: text, bump: { enum: ['minor', 'patch'] } },
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
      : (isApprovals.errors ?? []).map((error) => `${error.instancePath} ${ajvMessage(error)}`)),
  ];
  if (mistakes.length > 0) throw new Error(mistakes.join('; '));
  return file as Approval[];
}

/** Changes, of which the breaking ones are divided into approved and unapproved ones. */
export interface Approved<Found extends Change = Change> {
  unapproved: Found[];
  approved: (Found & { reason: string })[];
  /** Approvals that match no breaking change. */
  unused: Approval[];
}

const fits = (one: Change) => (approval: Approval) =>
  approval.at === one.at && approval.change === one.change;

/**
 * Divides the breaking changes. The removal of a deprecated place is approved after its sunset date, and cannot be approved
 * before.
 */
export function approve<Found extends Change>(
  changes: readonly Found[],
  approvals: readonly Approval[],
): Approved<Found> {
  const breaking = changes.filter(({ severity }) => severity === 'major');
  return {
    unapproved: breaking.filter((one) => reasonOf(one, approvals) === undefined),
    approved: breaking.flatMap((one) => {
      const reason = reasonOf(one, approvals);
      return reason === undefined ? [] : [{ ...one, reason }];
    }),
    unused: approvals.filter((approval) => !breaking.some((one) => fits(one)(approval))),
  };
}

/** The reason why a change is approved. Undefined if it is not. */
function reasonOf(one: Change, approvals: readonly Approval[]): string | undefined {
  if (one.sunset?.isOver === false) return undefined;
  const reason = approvals.find(fits(one))?.reason;
  return reason ?? (one.sunset === undefined ? undefined : `Its sunset date ${one.sunset.date} is over.`);
}

/** Lowers the severity of changes whose approval states it. */
export function withApprovedSeverity<Found extends Change>(
  changes: readonly Found[],
  approvals: readonly Approval[],
): Found[] {
  return changes.map((one) => ({ ...one, severity: approvals.find(fits(one))?.bump ?? one.severity }));
}
