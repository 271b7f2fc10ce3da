/** Returns the body of a successful response of a management operation. */
export function success<Data>(data: Data): { success: true; message: string; data: Data } {
  return { success: true, message: '', data };
}
