import type { Fields } from './fields.ts';
import type { ErrorFamily } from './paths.ts';

/** Part 7 of the interface: required fields of an error body by family. */
export const errorBodies: Readonly<Record<ErrorFamily, Fields>> = {
  generic: { 'error.code!': 'string', 'error.message!': 'string', 'error.request_id!': 'string' },
  messages: { 'error.code!': 'string', 'error.message!': 'string', 'error.request_id!': 'string' },
  // A provider's rejection is forwarded unchanged; gateway errors are generic.
  native: {
    'code!': 'string',
    'message!': 'string',
    'request_id!': 'string',
    'error.code!': 'string',
    'error.message!': 'string',
    'error.request_id!': 'string',
  },
  management: { 'success!': 'boolean', 'message!': 'string' },
};
