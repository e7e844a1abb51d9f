/**
 * The requests of node:http, with a way to stop the parser. One read may hold 1,700 small requests, and node:http makes the
 * objects of all of them even after the socket was destroyed: 40 ms a read, with nothing to stop its sender. The parser
 * stops only at a message that upgrades its connection, so every message of a destroyed socket says that it does;
 * node:http then finds no listener for upgrades and closes the socket, which is closed already.
 */
import { nodeHttp } from '../process/node-http.ts';

export class ParsedMessage extends nodeHttp().IncomingMessage {
  /** What the parser has set, already while the constructor of the base class runs. */
  declare private isUpgrade: boolean | null;

  get upgrade(): boolean | null {
    return this.isUpgrade === true || this.socket.destroyed ? true : this.isUpgrade;
  }

  set upgrade(isUpgrade: boolean | null) {
    this.isUpgrade = isUpgrade;
  }
}
