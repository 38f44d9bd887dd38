/** The public methods of a class. */
type Methods<Table> = {
  readonly [
    Name in keyof Table as Table[Name] extends (...args: never[]) => unknown ? Name : never
  ]: Table[Name];
};

/**
 * The methods of a table as properties that can be spread into a store. The table extends no other
 * class.
 */
export function methodsOf<Table extends object>(table: Table): Methods<Table> {
  const own = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(table) as object);
  const methods = Object.entries(own).flatMap(([name, { value }]) =>
    name !== 'constructor' && typeof value === 'function'
      ? [[name, (value as () => unknown).bind(table)] as const]
      : [],
  );
  // The prototype's own methods are exactly those of the type, because no table extends another.
  return Object.fromEntries(methods) as Methods<Table>;
}
